-- For wrk: reads and writes keys of one user. SESSION is the user's session; SHARE is how many percent of the requests
-- write. A session is no argument, because every user of a machine can see arguments.
local headers = { Authorization = "Bearer " .. os.getenv("SESSION") }
local share = tonumber(os.getenv("SHARE"))
local value = string.rep("v", 64)
local number = 0

function request()
  number = (number + 1) % 100
  local path = "/me/keys/key-" .. number
  if math.random(100) <= share then return wrk.format("PUT", path, headers, value) end
  return wrk.format("GET", path, headers)
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format("result %.0f %.2f %.2f %d\n", summary.requests / summary.duration * 1e6,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000,
    errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
