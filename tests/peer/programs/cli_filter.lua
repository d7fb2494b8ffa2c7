-- SPDX-License-Identifier: Apache-2.0
-- Runs under Lua 5.1 (the referee) and 5.4: what it does is decided by the variable FILTER.
local filter = os.getenv("FILTER")

function slurm_cli_setup_defaults(options, early)
  if filter == "default" then options["time"] = "7" options["comment"] = "by default" end
  if filter == "default_refuses" then return slurm.ERROR end
  return slurm.SUCCESS
end

function slurm_cli_pre_submit(options, offset)
  if filter == "log" then slurm.log_info("info") slurm.log_error("error %s", "x") slurm.log_verbose("v") end
  if filter == "refuse" then slurm.log_error("no") return slurm.ERROR end
  if filter == "code" then return 2048 end
  if filter == "set" then options["time"] = "9" options["comment"] = "set" options["partition"] = "short" end
  if filter == "bad" then options["time"] = "abc" end
  if filter == "nowhere" then options["partition"] = "nowhere" end
  if filter == "show" then
    for _, k in ipairs({"type", "partition", "time", "hold", "test-only", "comment", "nodelist", "wrap"}) do
      print(k, options[k])
    end
  end
  return slurm.SUCCESS
end

function slurm_cli_post_submit(offset, job_id, step_id)
  if filter == "post" then print(offset, step_id) end
  return slurm.SUCCESS
end
