import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import * as z from 'zod'
import { isRecord } from '../../api/v1alpha1/v1alpha1.ts'
import { printable } from '../../base/errors/errors.ts'
import { Slots } from '../../base/pacing/pacing.ts'

/** The blocks and attributes of a file, in Terraform's JSON syntax. */
export type ParsedFile = unknown

const maxMessageBytes = 4096

/** A file that is not valid HCL. */
export class HclError extends Error {
  override readonly name = 'HclError'
  readonly line: number | undefined

  constructor(message: string, line?: number) {
    // The parser quotes the file, which can contain anything.
    super(printable(message, maxMessageBytes))
    this.line = line
  }
}

/** Parses a file. @throws HclError */
export type ParseHcl = (name: string, text: string) => Promise<ParsedFile>

/** The parser is Go compiled to WebAssembly. Hostile files end or block its runtime, so it runs in a thread of its own. */
const program = `
  const { parentPort, workerData } = require('node:worker_threads')
  const { parse } = require(workerData)
  parentPort.on('message', ({ name, text }) => {
    parse(name, text).then(
      (parsed) => parentPort.postMessage({ parsed }),
      (error) => parentPort.postMessage({ error: String(error.message) }),
    )
  })`

const Reply = z.union([z.object({ error: z.string() }), z.object({ parsed: z.unknown() })])

/** The thread takes 120 MB, so it ends after a pause. */
const idleMs = 30_000

let worker: Worker | undefined
let idle: NodeJS.Timeout | undefined
const oneAtATime = new Slots({ max: 1, maxWaiting: 10_000, busy: 'too many modules wait' })

/** How often the processor time of the thread is measured. */
const lookMs = 100
/** The thread is also stopped after this multiple of its limit in wall time, because it may hang. */
const partsOfProcessor = 12

/**
 * Gives the parser to one module at a time.
 *
 * @param cpuMs processor time for all files of the module; files after that fail. On a busy machine that takes longer, and
 *   the result is the same.
 */
export const withHclParser = <T>(
  cpuMs: number,
  work: (parse: ParseHcl) => Promise<T>,
): Promise<T> =>
  oneAtATime.run(async () => {
    clearTimeout(idle)
    const budget = { leftMs: cpuMs }
    try {
      return await work((name, text) => parseIn(thread(), { name, text }, budget))
    } finally {
      idle = setTimeout(end, idleMs).unref()
    }
  })

function thread(): Worker {
  if (worker === undefined) {
    const workerData = fileURLToPath(import.meta.resolve('@cdktn/hcl2json'))
    // The runtime prints thousands of lines when it fails. They are not read, because a reader would keep the process alive.
    worker = new Worker(program, { eval: true, workerData, stdout: true, stderr: true, env: {} })
    worker.unref()
  }
  return worker
}

function end(): void {
  void worker?.terminate()
  worker = undefined
}

async function parseIn(
  parser: Worker,
  file: { readonly name: string; readonly text: string },
  budget: { leftMs: number },
): Promise<ParsedFile> {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>()
  // Keeps the process alive until the answer arrives.
  parser.ref()
  const fail = (why: string) => () => {
    end()
    reject(new HclError(why))
  }
  const late = fail('the module takes too long to parse')
  const broken = fail('the parser failed on this file')
  const spentMs = await stopwatch(parser)
  const look = async () => {
    if ((await spentMs()) > budget.leftMs) late()
  }
  const tooDeep = fail('the file is nested too deeply')
  parser.once('message', resolve).once('messageerror', tooDeep)
  parser.once('error', broken).once('exit', broken)
  const looking = setInterval(() => void look(), lookMs)
  try {
    if (budget.leftMs <= 0) throw new HclError('the module takes too long to parse')
    parser.postMessage(file)
    const reply = Reply.parse(await promise)
    if ('error' in reply) throw problemIn(reply.error)
    return reply.parsed
  } finally {
    clearInterval(looking)
    budget.leftMs -= await spentMs()
    parser.off('message', resolve).off('messageerror', tooDeep)
    parser.off('error', broken).off('exit', broken)
    parser.unref()
  }
}

/** Measures the processor time of a thread from now on, in milliseconds, and at least its share of the time that passes. */
async function stopwatch(parser: Worker): Promise<() => Promise<number>> {
  const startMs = performance.now()
  const before = await cpuMsOf(parser)
  return async () => {
    const cpuMs = (await cpuMsOf(parser)) - before
    return Math.max(cpuMs, (performance.now() - startMs) / partsOfProcessor)
  }
}

/** Returns 0 before the thread starts and after it ends. */
const cpuMsOf = (parser: Worker): Promise<number> =>
  parser.cpuUsage().then(
    ({ user, system }) => (user + system) / 1000,
    () => 0,
  )

/** Messages contain texts of the module. Searching a longer message takes too long. */
const longestRead = 1000

/** Reads the first problem of `parse config: [main.tf:2,9-3,1: Summary; Detail. main.tf:7,1-2: Summary; Detail.]`. */
function problemIn(whole: string): HclError {
  if (whole.startsWith('Maximum call stack')) return new HclError('the file is nested too deeply')
  const message = whole.length > longestRead ? `${whole.slice(0, longestRead)}]` : whole
  const [, line, summary = '', detail = ''] =
    /\[.*?:(\d+),\d+[-\d,]*: ([^;]*); (.*?)\.?(?:\]$| and \d+ other|,? \S+:\d+,\d+)/su.exec(
      message,
    ) ?? []
  if (line === undefined) return new HclError(message.slice(0, 300))
  return new HclError(`${summary}: ${detail}`.slice(0, 300), Number(line))
}

/** Attributes and nested blocks, in Terraform's JSON syntax. */
export type Body = Readonly<Record<string, unknown>>

export interface Block {
  readonly labels: readonly string[]
  readonly body: Body
}

/** The number of labels of each block that documentation is read from. */
const labelCounts = {
  terraform: 0,
  variable: 1,
  output: 1,
  provider: 1,
  resource: 2,
  data: 2,
  ephemeral: 2,
  module: 1,
  moved: 0,
  removed: 0,
  host: 1,
  credentials: 1,
} as const

export type BlockType = keyof typeof labelCounts

/** The blocks of a type, in the order of the text. */
export function blocksOf(parsed: ParsedFile, type: BlockType, order: HeaderOrder): Block[] {
  const files = (Array.isArray(parsed) ? parsed : [parsed]).filter(isRecord)
  const blocks = files.flatMap((file) => [...labelled(file[type], labelCounts[type], [])])
  const at = ({ labels }: Block) => order.get(keyOf(type, labels)) ?? order.size
  return blocks.toSorted((a, b) => at(a) - at(b))
}

/** Nested blocks without labels. */
export const nested = (value: unknown): Body[] =>
  [...labelled(value, 0, [])].map(({ body }) => body)

/** Each level can be an object or an array of objects. */
function* labelled(
  value: unknown,
  depth: number,
  labels: readonly string[],
): Generator<Block, void> {
  for (const one of Array.isArray(value) ? value : [value]) {
    if (!isRecord(one)) continue
    if (depth === 0) yield { labels, body: one }
    else {
      for (const [label, inner] of Object.entries(one)) {
        if (label !== '//') yield* labelled(inner, depth - 1, [...labels, label])
      }
    }
  }
}

/** The position of each block's header among the headers of a file, because the parser sorts blocks by name. */
type HeaderOrder = ReadonlyMap<string, number>

const header = /^[ \t]*([a-z]+)[ \t]+("[^"\n]*"|[\w-]+)(?:[ \t]+("[^"\n]*"|[\w-]+))?[ \t]*\{/gm

/** @param text of a file in the native syntax; JSON objects are in order already */
export function headerOrder(text: string): HeaderOrder {
  const order = new Map<string, number>()
  for (const [, type = '', ...labels] of text.matchAll(header)) {
    const key = keyOf(
      type,
      labels.flatMap((label) => (label === undefined ? [] : [label.replaceAll('"', '')])),
    )
    if (!order.has(key)) order.set(key, order.size)
  }
  return order
}

const keyOf = (type: string, labels: readonly string[]): string => [type, ...labels].join(' ')

/** Unwraps an expression, which the parser writes as `${var.x}`, to its text in the file. */
export const expressionText = (value: unknown): string | undefined =>
  typeof value === 'string' ? value.replace(/^\$\{(.*)\}$/s, '$1') : undefined

export const textOrNothing = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined

/** Unescapes a value of the native syntax, in which `$${` and `%%{` mean `${` and `%{`. The parser does not do that. */
export function unescaped(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll(/([$%])\1\{/g, '$1{')
  if (Array.isArray(value)) return value.map(unescaped)
  if (!isRecord(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, unescaped(each)]))
}

/** JSON files may quote booleans. */
export const isTrue = (value: unknown): boolean => value === true || value === 'true'

export const isFalse = (value: unknown): boolean => value === false || value === 'false'

/** Whether a value is nested so deeply that reading it could overflow the stack. */
export function isDeep(value: unknown, levels = 50): boolean {
  if (levels === 0) return true
  const inner = Array.isArray(value) ? value : isRecord(value) ? Object.values(value) : []
  return inner.some((each: unknown) => isDeep(each, levels - 1))
}

/** Whether a value has a number that is too large for JSON. */
export function hasInfinity(value: unknown): boolean {
  if (typeof value === 'number') return !Number.isFinite(value)
  const inner = Array.isArray(value) ? value : isRecord(value) ? Object.values(value) : []
  return inner.some(hasInfinity)
}
