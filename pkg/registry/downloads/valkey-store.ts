import type { Redis } from 'iovalkey'
import { backoffMs, type Clock } from '../../base/pacing/pacing.ts'
import {
  archiveKey,
  archiveOf,
  type Batch,
  type ConsumerUse,
  type CountedDownload,
  type CountStore,
  type DownloadedResource,
  dayOf,
  type HourlyCount,
  historyDays,
  hourMs,
  hourOf,
  journalMemoryDays,
  maxConsumers,
  otherConsumers,
} from './event.ts'

export interface ValkeyAddress {
  readonly host: string
  readonly port: number
  /** The certificate must be valid for `host` and issued by an authority that Node trusts. Default false. */
  readonly tls?: boolean
}

export interface ValkeyOptions {
  readonly address: ValkeyAddress
  readonly password?: string | undefined
  readonly clock: Clock
}

/** All keys are in one slot of a cluster, because one script writes them. The version is that of their layout. */
const prefix = '{depot}:v1:'
const daySeconds = 86_400
const connectDeadlineMs = 5_000

type Client = Redis & {
  applyBatch?: (keys: number, ...args: (string | number)[]) => Promise<string>
  noteUses?: (keys: number, ...args: (string | number)[]) => Promise<void>
}

/** Counts in a Valkey that several servers share. The client reconnects by itself. A command is never sent twice. */
export class ValkeyStore implements CountStore {
  readonly name = 'valkey'
  generation = 0
  /** The library is loaded with the first store, because most servers have none. */
  readonly #client: Promise<Client>
  readonly #clock: Clock
  #failure: Error | undefined

  constructor(options: ValkeyOptions) {
    this.#clock = options.clock
    this.#client = this.#connect(options)
    // The error is reported to callers.
    this.#client.catch(() => undefined)
  }

  async #connect({ address, password }: ValkeyOptions): Promise<Client> {
    const { host, port, tls } = address
    const { Redis: Connection } = await import('./valkey-client.ts')
    const client: Client = new Connection({
      host,
      port,
      ...(tls === true && { tls: {} }),
      ...(password !== undefined && { password }),
      connectionName: 'depot',
      connectTimeout: connectDeadlineMs,
      commandTimeout: 5_000,
      keepAlive: 30_000,
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      retryStrategy: (attempt) =>
        backoffMs({ firstMs: 100, capMs: 3_000, jitter: 'equal' }, attempt),
      // Reconnecting finds the new primary after a failover.
      reconnectOnError: (error) => error.message.startsWith('READONLY'),
    })
    client.defineCommand('applyBatch', { lua: applyScript })
    client.defineCommand('noteUses', { lua: useScript })
    client.on('error', (error) => {
      this.#failure = error
    })
    client.on('ready', () => {
      this.#failure = undefined
      this.generation += 1
    })
    return client
  }

  async apply({ journal, after, last, archives, hours, uses }: Batch): Promise<number> {
    // A use that comes again changes nothing, so it needs no part in the step that counts.
    await this.#note(uses)
    const days = Object.groupBy(hours, ({ hour }) => Math.floor(hour / 24))
    const keys = [this.#journal(journal), `${prefix}revision`, `${prefix}downloads`]
    keys.push(`${prefix}changed`, ...Object.keys(days).map((day) => dayKey(Number(day))))
    const args: (string | number)[] = [after, last, journalMemoryDays * daySeconds, archives.length]
    for (const archive of archives) args.push(archiveKey(archive), archive.count, archive.lastAt)
    for (const [day, fields = []] of Object.entries(days)) {
      args.push((Number(day) + historyDays + 1) * daySeconds, fields.length)
      for (const of of fields) args.push(resourceField(of), of.hour % 24, of.count)
    }
    return Number(await this.#ask((client) => client.applyBatch?.(keys.length, ...keys, ...args)))
  }

  async applied(journal: string): Promise<number> {
    return Number((await this.#ask((client) => client.get(this.#journal(journal)))) ?? 0)
  }

  async changes(
    after: number,
    limit: number,
  ): Promise<{ counts: CountedDownload[]; revision: number }> {
    const found = await this.#ask((client) =>
      client.zrangebyscore(
        `${prefix}changed`,
        `(${after}`,
        '+inf',
        'WITHSCORES',
        'LIMIT',
        0,
        limit,
      ),
    )
    const keys = found.filter((_, index) => index % 2 === 0)
    if (keys.length === 0) return { counts: [], revision: after }
    const values = await this.#ask((client) => client.hmget(`${prefix}downloads`, ...keys))
    const counts = keys.flatMap((key, index) => {
      const [count, lastAt] = values[index]?.split(' ').map(Number) ?? []
      const archive = archiveOf(key)
      return archive === undefined || count === undefined || lastAt === undefined
        ? []
        : [{ ...archive, count, lastAt }]
    })
    return { counts, revision: Number(found.at(-1)) }
  }

  async hourly(resource: DownloadedResource, versions: readonly string[]): Promise<HourlyCount[]> {
    const newest = hourOf(this.#clock())
    const oldest = newest - historyDays * 24
    const first = Math.floor(oldest / 24)
    const days = Array.from(
      { length: Math.floor(newest / 24) - first + 1 },
      (_, day) => first + day,
    )
    const wanted = [undefined, ...versions]
    const fields = wanted.map((version) => resourceField({ ...resource, version }))
    const found = await this.#ask((client) =>
      Promise.all(days.map((day) => client.hmget(dayKey(day), ...fields))),
    )
    return wanted.flatMap((version, column) =>
      days
        .flatMap((day, index) => hoursOf(day, found[index]?.[column] ?? ''))
        .filter(({ hour }) => hour >= oldest)
        .toSorted((a, b) => a.hour - b.hour)
        .map(({ hour, count }) => ({
          startsAt: hour * hourMs,
          ...(version !== undefined && { version }),
          count,
        })),
    )
  }

  async #note(uses: Batch['uses']): Promise<void> {
    const today = dayOf(this.#clock())
    for (const [used, own] of Map.groupBy(uses, usedKey)) {
      const args: (string | number)[] = [today, historyDays, maxConsumers, otherConsumers]
      for (const { consumer, version, day } of own)
        args.push(consumer, version, Math.min(day, today))
      const keys = [used, `${prefix}names`, `${prefix}named`]
      await this.#ask((client) => client.noteUses?.(keys.length, ...keys, ...args))
    }
  }

  async consumers(resource: DownloadedResource): Promise<ConsumerUse[]> {
    const text = await this.#ask((client) => client.get(usedKey(resource)))
    const uses = usesIn(text ?? '', dayOf(this.#clock()))
    const numbers = [...new Set(uses.flatMap(({ consumer, version }) => [consumer, version]))]
    if (numbers.length === 0) return []
    const found = await this.#ask((client) => client.hmget(`${prefix}named`, ...numbers))
    const names = new Map(numbers.map((number, index) => [number, found[index]]))
    return uses.flatMap((use) => {
      const [consumer, version] = [names.get(use.consumer), names.get(use.version)]
      return consumer && version ? [{ ...use, consumer, version }] : []
    })
  }

  async close(): Promise<void> {
    const client = await this.#client
    client.disconnect()
  }

  #journal(id: string): string {
    return `${prefix}journal:${id}`
  }

  /** Waits for a pending connection. Replaces errors of the client by the reason why there is no connection. */
  async #ask<T>(question: (client: Client) => Promise<T> | undefined): Promise<T> {
    try {
      const client = await this.#client
      if (client.status !== 'ready' && this.#failure === undefined) await this.#settled(client)
      return (await question(client)) as T
    } catch (error) {
      throw this.#failure === undefined ? error : new Error(this.#failure.message, { cause: error })
    }
  }

  async #settled(client: Client): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const events = ['ready', 'error', 'end']
    for (const event of events) client.once(event, resolve)
    const overdue = setTimeout(resolve, connectDeadlineMs)
    await promise
    clearTimeout(overdue)
    for (const event of events) client.off(event, resolve)
  }
}

/** @param day days since 1970 */
function dayKey(day: number): string {
  return `${prefix}hours:${new Date(day * daySeconds * 1000).toISOString().slice(0, 10)}`
}

function resourceField(of: DownloadedResource & { readonly version?: string | undefined }): string {
  const { kind, namespace, name, version } = of
  return JSON.stringify([kind, namespace, name, ...(version === undefined ? [] : [version])])
}

/** The key of a resource's consumers. */
const usedKey = ({ kind, namespace, name }: DownloadedResource): string =>
  `${prefix}used:${resourceField({ kind, namespace, name })}`

/** Reads one day of one resource: ` 9:2 17:1` is two at nine and one at five in the afternoon. */
function hoursOf(day: number, text: string): { hour: number; count: number }[] {
  return Array.from(text.matchAll(/(\d+):(\d+)/g), ([, hour, count]) => ({
    hour: day * 24 + Number(hour),
    count: Number(count),
  }))
}

/**
 * Counts a batch, or nothing if the journal is at another event than the batch expects. Valkey runs it as one step, and
 * keeps all of it or nothing.
 *
 * KEYS: the journal, the revision, the counts, the order of changes, then the days of the history. ARGV: `after`, `last`,
 * seconds to remember the journal, number of archives; for each archive its key, count and last time; for each day the end
 * of its history (seconds since 1970) and its number of hours; for each of these the resource, the hour and the count.
 */
const applyScript = `
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

/**
 * Notes uses of one resource. A day that is known already changes nothing.
 *
 * KEYS: the uses of the resource, the numbers of names, the names of numbers. ARGV: today, days of the history, the limit of
 * consumers, the name of all others; for each use its consumer, version and day. Uses are one text, ` 12:3=20783:5` for
 * each consumer and version with the last day and the number of days: a hash would take five times the memory.
 */
const useScript = `
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
function usesIn(text: string, today: number) {
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
