/**
 * Notes uses of one resource. A day that is known already changes nothing.
 *
 * KEYS: the uses of the resource, the numbers of names, the names of numbers. ARGV: today, days of the history, the limit of
 * consumers, the name of all others; for each use its consumer, version and day. Uses are one text, ` 12:3=20783:5` for
 * each consumer and version with the last day and the number of days: a hash would take five times the memory.
 */
export const useScript = `
local today, history, most, others = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4]

local function numberOf(text, day)
  local number, seen = string.match(redis.call('HGET', KEYS[2], text) or '', '^(%d+) (%d+)$')
  if number and tonumber(seen) >= day then return number end
  if not number then
    number = string.format('%.0f', redis.call('HINCRBY', KEYS[3], '', 1))
    redis.call('HSET', KEYS[3], number, text)
  end
  redis.call('HSET', KEYS[2], text, string.format('%s %.0f', number, day))
  return number
end

if redis.call('HGET', KEYS[3], 'swept') ~= ARGV[1] then
  local names = redis.call('HGETALL', KEYS[2])
  for i = 1, #names, 2 do
    local number, seen = string.match(names[i + 1], '^(%d+) (%d+)$')
    if tonumber(seen) < today - history then
      redis.call('HDEL', KEYS[2], names[i])
      redis.call('HDEL', KEYS[3], number)
    end
  end
  redis.call('HSET', KEYS[3], 'swept', ARGV[1])
end

local before = redis.call('GET', KEYS[1]) or ''
local used = before
for at = 5, #ARGV, 3 do
  local consumer, version, day = ARGV[at], ARGV[at + 1], tonumber(ARGV[at + 2])
  local number = string.match(redis.call('HGET', KEYS[2], consumer) or '', '^%d+')
  if not (number and string.find(used, ' ' .. number .. ':', 1, true)) then
    local kept, known, count = {}, {}, 0
    for use, by, last in string.gmatch(used, '( (%d+):%d+=(%d+):%d+)') do
      if tonumber(last) >= today - history then
        kept[#kept + 1] = use
        if not known[by] then count = count + 1 end
        known[by] = true
      end
    end
    used = table.concat(kept)
    if count >= most then consumer = others end
  end
  local key = string.format(' %s:%s=', numberOf(consumer, day), numberOf(version, day))
  local from, to = string.find(used, key, 1, true)
  if not from then
    used = string.format('%s%s%.0f:1', used, key, day)
  else
    local last, days, rest = string.match(used, '^(%d+):(%d+)()', to + 1)
    if tonumber(last) < day or tonumber(last) > today + 1 then
      local more = math.min(tonumber(days) + 1, history)
      used = string.format('%s%.0f:%.0f%s', string.sub(used, 1, to), day, more, string.sub(used, rest))
    end
  end
end
if used ~= before then redis.call('SET', KEYS[1], used, 'EX', (history + 1) * 86400) end
`

/** Reads the text of a resource. */
export function usesIn(text: string, today: number, historyDays: number) {
  return Array.from(
    text.matchAll(/ (\d+):(\d+)=(\d+):(\d+)/g),
    ([, consumer = '', version = '', day, days]) => ({
      consumer,
      version,
      day: Number(day),
      days: Number(days),
    }),
  ).filter(({ day }) => day >= today - historyDays && day <= today + 1)
}
