/**
 * Counts a batch, or nothing if the journal is at another event than the batch expects. Valkey runs it as one step, and
 * keeps all of it or nothing.
 *
 * KEYS: the journal, the revision, the counts, the order of changes, then the days of the history. ARGV: `after`, `last`,
 * seconds to remember the journal, number of archives; for each archive its key, count and last time; for each day the end
 * of its history (seconds since 1970) and its number of hours; for each of these the resource, the hour and the count.
 */
export const applyScript = `
local applied = redis.call('GET', KEYS[1]) or '0'
if applied ~= ARGV[1] then return applied end

local archives = tonumber(ARGV[4])
local revision = redis.call('INCRBY', KEYS[2], archives) - archives
local at = 5
for i = 1, archives do
  local key, more, last = ARGV[at], tonumber(ARGV[at + 1]), ARGV[at + 2]
  local known = redis.call('HGET', KEYS[3], key)
  if known then
    local count, before = string.match(known, '^(%d+) (%d+)$')
    more = more + tonumber(count)
    if tonumber(before) > tonumber(last) then last = before end
  end
  redis.call('HSET', KEYS[3], key, string.format('%.0f %s', more, last))
  redis.call('ZADD', KEYS[4], string.format('%.0f', revision + i), key)
  at = at + 3
end

for day = 5, #KEYS do
  local ends, hours = ARGV[at], tonumber(ARGV[at + 1])
  at = at + 2
  for i = 1, hours do
    local field, hour, more = ARGV[at], ARGV[at + 1], ARGV[at + 2]
    local isNew = true
    local known = string.gsub(redis.call('HGET', KEYS[day], field) or '', '(%d+):(%d+)', function(other, count)
      if other == hour then
        isNew = false
        return string.format('%s:%.0f', hour, tonumber(count) + tonumber(more))
      end
    end)
    if isNew then known = string.format('%s %s:%s', known, hour, more) end
    redis.call('HSET', KEYS[day], field, known)
    at = at + 3
  end
  redis.call('EXPIREAT', KEYS[day], ends)
end

redis.call('SET', KEYS[1], ARGV[2], 'EX', ARGV[3])
return ARGV[2]
`
