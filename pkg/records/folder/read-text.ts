import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { newlinesIn } from './documents.ts'
import { signatureOf } from './tree.ts'

/** Larger files are refused. */
const maxFileBytes = 256 * 1024 * 1024

/** The text of a file, or the mistake that remains until the file changes. */
export type FileText =
  | { readonly text: string }
  | {
      readonly problem: string
      readonly reason: 'InvalidSyntax' | 'Unreadable'
      readonly line: number | undefined
    }

/**
 * Reads a file as text: UTF-8, or UTF-16 with a byte order mark, as PowerShell writes it.
 *
 * @returns undefined if the file does not have this signature, or changes while it is read
 * @throws the error of the file system
 */
export async function readText(path: string, signature: string): Promise<FileText | undefined> {
  await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
  const stats = await file.stat({ bigint: true })
  if (signatureOf(stats) !== signature) return undefined
  if (stats.size > maxFileBytes) {
    const problem = `is larger than ${maxFileBytes / 1024 / 1024} MiB; split it`
    return { problem, reason: 'Unreadable', line: undefined }
  }
  const bytes = await file.readFile()
  if (signatureOf(await file.stat({ bigint: true })) !== signature) return undefined
  return decodeText(bytes)
}

/** Decodes a manifest: UTF-8, or UTF-16 with a byte order mark. */
export function decodeText(bytes: Buffer): FileText {
  const encoding = encodingOf(bytes)
  try {
    return { text: new TextDecoder(encoding, { fatal: true }).decode(bytes) }
  } catch {
    const text = new TextDecoder(encoding).decode(bytes)
    const line = newlinesIn(text.slice(0, text.indexOf('\uFFFD'))) + 1
    return { problem: `is not ${encoding.toUpperCase()} text`, reason: 'InvalidSyntax', line }
  }
}

function encodingOf(bytes: Buffer): 'utf-8' | 'utf-16le' | 'utf-16be' {
  const mark = bytes.subarray(0, 2).toString('hex')
  if (mark === 'fffe') return 'utf-16le'
  return mark === 'feff' ? 'utf-16be' : 'utf-8'
}
