import { codeOf, notFound, RegistryError, unavailable } from '../../../base/errors/errors.ts'

const absent = ['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'ELOOP', 'EISDIR', 'ENXIO']

/** Converts an error for readers of an archive. */
export function fileError(thrown: unknown): RegistryError {
  if (thrown instanceof RegistryError) return thrown
  const code = codeOf(thrown)
  if (absent.includes(code)) return notFound('there is no such archive in storage', thrown)
  if (code === 'EACCES' || code === 'EPERM') {
    return unavailable('the server is not allowed to read the archive', thrown)
  }
  return unavailable('the archive could not be read', thrown)
}

/** Converts an error for writers of an archive. */
export function writeError(thrown: unknown): RegistryError {
  if (thrown instanceof RegistryError) return thrown
  const code = codeOf(thrown)
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return unavailable('the archive storage is full', thrown)
  }
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') {
    return unavailable('writing to the archive storage is not allowed: check the mount', thrown)
  }
  return unavailable('the archive could not be stored', thrown)
}
