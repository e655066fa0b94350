-- Nine requests of ten read one item by its id, one inserts an item.
-- Only init and request are defined here: the report is benchctl's own.
local items = 10000
local insert_every = 10
local post_headers = { ["Content-Type"] = "application/json" }

local threads = 0

-- Runs once per thread, before the threads do: each gets a seed of its own,
-- so that every run asks for the same ids in the same order.
function setup(thread)
   threads = threads + 1
   thread:set("thread_number", threads)
end

function init(args)
   math.randomseed(19 + thread_number)
   sent = 0
end

function request()
   sent = sent + 1
   if sent % insert_every == 0 then
      local body = string.format(
         '{"name":"new item %d-%d","description":"made by the load","price_cents":%d,"stock":1}',
         thread_number, sent, math.random(100, 9999))
      return wrk.format("POST", "/items", post_headers, body)
   end
   return wrk.format("GET", "/items/" .. math.random(items))
end
