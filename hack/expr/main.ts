/**
 * Compares the rule language with its reference, on random rules: `node hack/expr/main.ts --count 200000 --seed 1`. Prints
 * the differences, and ends with 1 if ours is not an error. With `--write` a few thousand of the answers become vectors.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { ExpressionError } from '../../pkg/expr/expr.ts'
import { compileExpression } from '../../pkg/expr/expression.fixture.ts'
import { Generator } from './expressions.ts'

interface Question {
  readonly expr: string
  readonly groups: readonly string[]
}

const repository = join(import.meta.dirname, '../..')
const vectors = join(repository, 'pkg/expr/testdata/random.json')
const batch = 20_000

const { values: flags } = parseArgs({
  options: {
    count: { type: 'string', default: '20000' },
    seed: { type: 'string', default: '1' },
    show: { type: 'string', default: '20' },
    write: { type: 'boolean', default: false },
  },
})

/** Small, and the same everywhere: mulberry32. */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

function reference(questions: readonly Question[]): string[] {
  const stdio = ['ignore', 'pipe', 'inherit'] as const
  const tool = execFileSync(join(repository, 'hack/tool'), ['expr-reference'], {
    encoding: 'utf8',
    stdio: [...stdio],
  })
  const input = questions.map((question) => JSON.stringify(question)).join('\n')
  const { stdout, status } = spawnSync(tool.trim(), { input, encoding: 'utf8', maxBuffer: 2 ** 28 })
  if (status !== 0) throw new Error('the reference failed')
  return stdout.trimEnd().split('\n')
}

function ours({ expr, groups }: Question): string {
  let failure = 'compile-error'
  try {
    const rule = compileExpression(expr)
    failure = 'runtime-error'
    return String(rule(groups))
  } catch (thrown) {
    if (!(thrown instanceof ExpressionError)) throw thrown
    return failure
  }
}

/** Searches from the end that the optimizer of the reference makes; see Generator.rule. */
const misread = /last\(\(*(?:map\(\(*)?filter\(|\)\[-1\]|\)\[\(*-1/

const isError = (answer: string) => answer.endsWith('-error')

const generator = new Generator(seeded(Number(flags.seed)))
const seen = new Set<string>()
const kept: (Question & { readonly expect: string | boolean })[] = []
const totals = new Map<string, number>()
let different = 0
/** Cases in which ours fails and the reference answers, mostly bounds of slices that the reference does not check. */
let refused = 0
/** One fails when it is compiled and the other when it runs: no caller gets access in either case. */
let deniedBoth = 0
let asked = 0
while (asked < Number(flags.count)) {
  const questions = Array.from({ length: Math.min(batch, Number(flags.count) - asked) }, () => {
    return { expr: generator.rule(), groups: generator.groups() }
  }).filter(({ expr }) => !misread.test(expr))
  const answers = reference(questions)
  for (const [index, question] of questions.entries()) {
    const expected = answers[index] ?? ''
    const actual = ours(question)
    totals.set(expected, (totals.get(expected) ?? 0) + 1)
    if (actual !== expected && isError(actual) && isError(expected)) deniedBoth += 1
    else if (actual !== expected) {
      if (isError(actual)) refused += 1
      else different += 1
      if (different + refused <= Number(flags.show)) {
        console.log(
          `${expected}, ours ${actual}: ${question.expr}   ${JSON.stringify(question.groups)}`,
        )
      }
    }
    // Short ones that run, each shape once: names and numbers do not make another one.
    const shape = question.expr.replaceAll(/"[^"]*"/g, '""').replaceAll(/\d+/g, '0')
    if (question.expr.length < 90 && !seen.has(shape)) {
      seen.add(shape)
      kept.push({ ...question, expect: isError(expected) ? expected : expected === 'true' })
    }
  }
  asked += questions.length
}
console.log(
  `${asked} rules, ${different} differences, ${refused} refused, ${deniedBoth} errors at different times`,
  Object.fromEntries(totals),
)
if (flags.write) {
  const chosen = [true, false, 'runtime-error', 'compile-error'].flatMap((expect) =>
    kept
      .filter((vector) => vector.expect === expect)
      .slice(0, expect === 'compile-error' ? 500 : 1500),
  )
  writeFileSync(vectors, `[\n${chosen.map((vector) => JSON.stringify(vector)).join(',\n')}\n]\n`)
}
process.exitCode = different > 0 ? 1 : 0
