import { readFile, stat } from 'node:fs/promises'
import { RegistryError } from '../../base/errors/errors.ts'

/** Far more than any key needs. */
const maxBytes = 1024 * 1024

/** @throws RegistryError NotConfigured that says why the file cannot be read */
export async function readKeyFile(path: string): Promise<string> {
  const stats = await stat(path).catch(unreadable)
  if (!stats.isFile()) throw new RegistryError('NotConfigured', 'this is not a file')
  if (stats.size > maxBytes) {
    throw new RegistryError('NotConfigured', 'the file is too large to hold a key')
  }
  return readFile(path, 'utf8').catch(unreadable)
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'the file does not exist',
  ENOTDIR: 'the file does not exist',
  EACCES: 'the file may not be read by this process',
  ELOOP: 'the file is a link to itself',
}

function unreadable(cause: NodeJS.ErrnoException): never {
  const reason = reasons[cause.code ?? ''] ?? `the file cannot be read (${cause.code})`
  throw new RegistryError('NotConfigured', reason, { cause })
}
