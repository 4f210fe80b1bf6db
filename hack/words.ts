/**
 * Finds wordings that readers have to read twice, in documents, comments, messages and test names.
 * `node hack/words.ts` prints each place and fails if there is one; `--count` prints a number for each folder.
 */

import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

interface Rule {
  readonly pattern: RegExp
  readonly instead: string
  /** Restricts the rule to files with this ending. Default: every file that is checked. */
  readonly files?: RegExp
}

const typescript = /\.tsx?$/

/** A blank in a pattern stands for any number of blanks, because sentences continue on the next line. */
const rules: readonly Rule[] = [
  { pattern: /(?<![a-z])away\b|[a-z]Away/gi, instead: '"unavailable", "unreachable" or "missing"' },
  {
    pattern: /(?<!\bthere )\b(?:is|are|was|were) (?:no (?!longer|more|less|\w+er than)|none\b)/gi,
    instead: '"is not a"',
  },
  {
    pattern:
      /\b(?:stands?|stood) (?:in|on|there|here|still|beside|by|below|above|before|behind|between|first|last|open)\b/gi,
    instead: '"is in"',
  },
  { pattern: /\bof before\b(?!\)|\.\w)/gi, instead: '"existing" or "previous"' },
  {
    pattern:
      /[;,:] else\b|(?<!(?:thing|one|body|where|what|who|all|or) )\belse[.;,)](?!\s*[{)}])/gi,
    instead: '"otherwise"',
  },
  { pattern: /\b(?:it is looked|are let|is let|of strangers)\b/gi, instead: 'who does what' },
  { pattern: /\balso (?:if|while|after|when|where|without)\b/gi, instead: '"even if"' },
  {
    pattern: /\b(?:undefined|absent|empty|false) where (?:it|there|that|they|none|no|the)\b/gi,
    instead: '"if"',
  },
  {
    pattern: /\bthe (?:version before it|one before(?!\w|\s+\w))/gi,
    instead: '"the previous version"',
  },
  {
    pattern: /(?:\/\*\*?|(?<![:/])\/\/) (?:What|Where|Who|Whose|Of|That) /g,
    instead: 'a comment that begins with a noun or a verb',
    files: typescript,
  },
  {
    pattern:
      /\b(?:it|test|describe)(?:\.\w+(?:\([^()]*\))?)*\(\s*['"`](?:what|whether|who|whose|of|that) /gi,
    instead: 'a test name that says who does what',
    files: /\.test\.tsx?$/,
  },
  {
    pattern: /^#{1,4} (?:What|Whether|Where|Who|Whose|Of|That|Away|Back|Start from)\b/gm,
    instead: 'a heading that a person would search for',
    files: /\.md$/,
  },
  { pattern: /\bleast (?:time|wait|interval|delay)\b/gi, instead: '"minimum"' },
  { pattern: /, also (?:none|those|of|from|under|in)\b/g, instead: '"even" or "including"' },
  {
    pattern: /\b(?:written down|writ(?:es?|ten) (?:it|them|that)? ?down)\b/gi,
    instead: '"stored", "saved" or "recorded"',
  },
  { pattern: /\bno room (?:for|in)\b/gi, instead: '"does not fit into" or "no space"' },
  { pattern: /\boutweigh/gi, instead: '"takes precedence over"' },
  {
    pattern: /\b(?:is another one\b(?! like)|are others now\b)/gi,
    instead: '"has changed" or "differs"',
  },
  {
    pattern: /\b(?:HeadSpace|patiently|toldBy|takeIn)\b/g,
    instead: 'the noun of the field',
    files: typescript,
  },
]

/** Files that quote the words. */
const quoting: readonly string[] = ['hack/words.ts', 'hack/words.test.ts']

const checked = /(?:\.(?:tsx?|md|ya?ml|tpl|txt|sh)|(?:^|\/)Makefile|^hack\/(?:tool|with-node))$/
const unchecked = /(?:testdata|vectors)\/|LICENSE|NOTICES/

interface Finding {
  readonly file: string
  readonly line: number
  readonly text: string
  readonly instead: string
}

/** Blanks instead of line ends and the marks of comments. Every character keeps its position. */
function flowing(text: string): string {
  return text.replaceAll(/\n[ \t]*(?:\*(?!\/)|\/\/|#+)?[ \t]*/g, (mark) => ' '.repeat(mark.length))
}

/** The pattern for text whose lines were joined; one that looks for line starts is used as it is. */
function anyBlanks({ source, flags }: RegExp): RegExp {
  return new RegExp(flags.includes('m') ? source : source.replaceAll(' ', ' +'), flags)
}

export function findWords(file: string, text: string): Finding[] {
  return rules.flatMap(({ pattern, instead, files }) => {
    if (files !== undefined && !files.test(file)) return []
    const searched = pattern.multiline ? text : flowing(text)
    return [...searched.matchAll(anyBlanks(pattern))].map(({ index }) => ({
      file,
      line: text.slice(0, index).split('\n').length,
      text: searched.slice(Math.max(0, index - 40), index + 60).replaceAll(/\s+/g, ' '),
      instead,
    }))
  })
}

function findInRepository(): Finding[] {
  const root = join(import.meta.dirname, '..')
  const listed = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' })
  return listed
    .split('\n')
    .filter((file) => checked.test(file) && !unchecked.test(file) && !quoting.includes(file))
    .filter((file) => existsSync(join(root, file)))
    .flatMap((file) => findWords(file, readFileSync(join(root, file), 'utf8')))
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { count: { type: 'boolean', default: false } } })
  const found = findInRepository()
  if (values.count) {
    const folders = Map.groupBy(found, ({ file }) => file.split('/').slice(0, 2).join('/'))
    const byCount = [...folders].toSorted(([, a], [, b]) => b.length - a.length)
    for (const [folder, places] of byCount) console.log(`${places.length} ${folder}`)
  } else {
    for (const { file, line, text, instead } of found) {
      console.log(`${file}:${line}: write ${instead}: ${text}`)
    }
    process.exitCode = found.length === 0 ? 0 : 1
  }
}
