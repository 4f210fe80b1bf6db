import { chmodSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { depotArguments } from '../hack/testbed/program/command.ts'

/* Commands of the documentation, exactly as printed. */

/** The text below a heading, up to the next heading of its level or above; the whole page without a heading. */
function sectionOf(page: string, heading?: string): string {
  const text = readFileSync(join(import.meta.dirname, '../docs', page), 'utf8')
  if (heading === undefined) return text
  const [, rest] = text.split(`\n## ${heading}\n`)
  if (rest === undefined) throw new Error(`docs/${page} has no heading "${heading}"`)
  return rest.split('\n## ', 1)[0] ?? ''
}

/** The shell blocks of a page. Those in a list lose their indentation. */
export function shellBlocks(page: string, heading?: string): string[] {
  return [...sectionOf(page, heading).matchAll(/^( *)```sh\n(.*?)^\1```$/gms)].map(
    ([, indentation = '', block = '']) => block.replaceAll(new RegExp(`^${indentation}`, 'gm'), ''),
  )
}

/** The only shell block of a page that contains a text. */
export function shellBlock(page: string, text: string): string {
  const found = shellBlocks(page).filter((block) => block.includes(text))
  expect(found, `blocks of ${page} with ${text}`).toHaveLength(1)
  return found[0] ?? ''
}

/** Commands in sentences that begin with one of these words. Readers replace names in capitals. */
export function inlineCommands(page: string, words: readonly string[]): string[] {
  const pattern = new RegExp(`\`((?:${words.join('|')}) [^\`]+)\``, 'g')
  return [...sectionOf(page).matchAll(pattern)].map(([, command = '']) =>
    command.replace(/\s*\n\s*/g, ' '),
  )
}

/** A new folder for PATH, with the program `depot` in it. */
export function folderOfProgram(): string {
  const bin = mkdtempSync(join(tmpdir(), 'depot-bin-'))
  const program = [process.execPath, ...depotArguments()].map((word) => `'${word}'`).join(' ')
  writeFileSync(join(bin, 'depot'), `#!/bin/sh\nexec ${program} "$@"\n`)
  chmodSync(join(bin, 'depot'), 0o755)
  return bin
}

/** Sets flags as variables of the environment, so that commands can be typed as printed. */
export function environmentOf(flags: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    flags.map((flag) => {
      const [, name = '', value = ''] = /^--([^=]+)=(.*)$/s.exec(flag) ?? []
      return [`DEPOT_${name.toUpperCase().replaceAll('-', '_')}`, value]
    }),
  )
}
