import { type FolderLock, lockFolder } from '../../pkg/base/folderlock/folderlock.ts'
import { mistakeIn } from '../../pkg/base/options/options.ts'

/**
 * Keeps other programs that write to a folder out of it.
 *
 * @throws OptionsError saying who writes there, or why this process cannot
 */
export async function onlyOne(
  dir: string,
  program: string,
  onLost: () => void,
): Promise<FolderLock> {
  const stop = () => {
    process.stderr.write(`${program}: another process writes to ${dir} now, so this one ends\n`)
    onLost()
  }
  return lockFolder({ dir, program, onLost: stop }).catch(mistakeIn('--manifests'))
}
