import { chmodSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { depotArguments } from '../hack/testbed/program/command.ts'

/* Commands of the documentation, as they are printed there. */

/** The text below a heading, up to the next one of its level or above; all of a page without one. */
function sectionOf(page: string, heading?: string): string {
  const text = readFileSync(join(import.meta.dirname, '../docs', page), 'utf8')
  if (heading === undefined) return text
  const [, rest] = text.split(`\n## ${heading}\n`)
  if (rest === undefined) throw new Error(`docs/${page} has no heading "${heading}"`)
  return rest.split('\n## ', 1)[0] ?? ''
}

/** The shell blocks of a page; those in a list without their indentation. */
export function shellBlocks(page: string, heading?: string): string[] {
  return [...sectionOf(page, heading).matchAll(/^( *)```sh\n(.*?)^\1```$/gms)].map(
    ([, indentation = '', block = '']) => block.replaceAll(new RegExp(`^${indentation}`, 'gm'), ''),
  )
}

/** The only shell block of a page that holds a text. */
export function shellBlock(page: string, text: string): string {
  const found = shellBlocks(page).filter((block) => block.includes(text))
  expect(found, `blocks of ${page} with ${text}`).toHaveLength(1)
  return found[0] ?? ''
}

/** Commands inside of sentences that begin with one of these words; a name in capitals is for the reader to fill in. */
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

/** Flags as variables of the environment, so that commands can be typed as they are printed. */
export function environmentOf(flags: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    flags.map((flag) => {
      const [, name = '', value = ''] = /^--([^=]+)=(.*)$/s.exec(flag) ?? []
      return [`DEPOT_${name.toUpperCase().replaceAll('-', '_')}`, value]
    }),
  )
}
