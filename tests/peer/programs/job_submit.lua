-- SPDX-License-Identifier: Apache-2.0
-- Runs under Lua 5.1 (the referee) and 5.4: what it does is decided by the job's name.
local shown = {"account", "array_inx", "begin_time", "comment", "contiguous", "cores_per_socket", "cpus_per_task",
  "cpus_per_tres", "dependency", "end_time", "exc_nodes", "features", "licenses", "mail_type", "mail_user", "max_cpus",
  "max_nodes", "mem_per_tres", "min_cpus", "min_mem_per_cpu", "min_mem_per_node", "min_nodes", "name", "nice",
  "ntasks_per_core", "ntasks_per_node", "ntasks_per_socket", "num_tasks", "partition", "pn_min_cpus", "pn_min_memory",
  "pn_min_tmp_disk", "priority", "qos", "reboot", "req_nodes", "req_switch", "requeue", "reservation", "shared",
  "sockets_per_node", "threads_per_core", "time_limit", "time_min", "tres_per_socket", "user_name", "wait4switch", "wckey",
  "nonesuch"}
local shown_of_partition = {"allow_accounts", "allow_qos", "def_mem_per_cpu", "default_time", "flag_default",
  "max_cpus_per_node", "max_mem_per_cpu", "max_nodes", "max_share", "max_time", "min_nodes", "name", "nodes",
  "priority_job_factor", "priority_tier", "state_up", "total_cpus", "total_nodes"}

local function show(value)
  for _, name in ipairs({"NO_VAL", "NO_VAL16", "NO_VAL64", "INFINITE"}) do
    if value == slurm[name] then return name end
  end
  return tostring(value)
end

local actions = {
  fields = function(job) for _, k in ipairs(shown) do slurm.log_user("%s=%s", k, show(job[k])) end end,
  parts = function(job, parts)
    local names = {}
    for name in pairs(parts) do names[#names + 1] = name end
    table.sort(names)
    for _, name in ipairs(names) do
      for _, k in ipairs(shown_of_partition) do slurm.log_user("%s.%s=%s", name, k, show(parts[name][k])) end
    end
  end,
  constants = function()
    local names = {}
    for name, value in pairs(slurm) do
      if type(value) == "number" and value < 1e15 then names[#names + 1] = name .. "=" .. value end
    end
    table.sort(names)
    for _, line in ipairs(names) do slurm.log_user("%s", line) end
  end,
  refuse = function() slurm.log_user("not\ntoday") return slurm.ERROR end,
  licence = function() return slurm.ESLURM_INVALID_LICENSES end,
  account = function() return slurm.ESLURM_INVALID_ACCOUNT end,
  limit = function() return slurm.ESLURM_INVALID_TIME_LIMIT end,
  held = function() return 2042 end,
  failure = function() return slurm.FAILURE end,
  boom = function() error("boom") end,
  none = function(job) local x = job.nothing.more end,
  text = function() return "abc" end,
  set = function(job)
    job.time_limit = 20.7
    job.partition = "short"
    job.comment = "by the filter"
    job.nice = slurm.NICE_OFFSET + 7
    job.requeue = 0
  end,
  unknown = function(job) job.nonesuch = 5 end,
  nowhere = function(job) job.partition = "nowhere" end,
  typed = function(job) job.time_limit = "soon" end,
  user = function() slurm.log_user("hello %s %d", "x", 5) slurm.log_user("two") end,
  held2 = function(job) job.priority = 0 end,
  environment = function(job) slurm.log_user("%s %s", tostring(job.environment.MARK), tostring(job.environment.NONE)) end,
}

function slurm_job_submit(job_desc, part_list, submit_uid)
  local action = actions[job_desc.name or ""]
  local code = action and action(job_desc, part_list, submit_uid)
  if code ~= nil then return code end
  return slurm.SUCCESS
end

function slurm_job_modify(job_desc, job_rec, part_list, modify_uid)
  if job_desc.comment == "refuse" then return slurm.ERROR end
  if job_desc.comment == "change" then job_desc.comment = "changed, was " .. tostring(job_rec.comment) end
  if job_desc.comment == "boom" then error("boom") end
  return slurm.SUCCESS
end

return slurm.SUCCESS
