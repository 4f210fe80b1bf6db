import { notFound, RegistryError } from '../../errors/errors.ts'
import { unavailable } from '../../spool/spool.ts'

const absent = ['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'ELOOP', 'EISDIR', 'ENXIO']

/** What an error of the file system means to the one who asked for an archive. */
export function fileError(thrown: unknown): RegistryError {
  if (thrown instanceof RegistryError) return thrown
  const code = (thrown as NodeJS.ErrnoException | null)?.code ?? ''
  if (absent.includes(code)) return notFound('there is no such archive in storage', thrown)
  if (code === 'EACCES' || code === 'EPERM') {
    return unavailable('the server is not allowed to read the archive', thrown)
  }
  return unavailable('the archive could not be read', thrown)
}
