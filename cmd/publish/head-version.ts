import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import semver from 'semver'
import { normalizeVersion } from '../../pkg/api/v1alpha1/v1alpha1.ts'
import { plainText } from '../../pkg/archives/docs/docs.ts'
import { messageOf } from '../../pkg/base/errors/errors.ts'
import { OptionsError } from '../../pkg/base/options/options.ts'

const run = promisify(execFile)

/**
 * The version in the tag of the checked out commit.
 *
 * @param prefix of tags before the version
 * @throws OptionsError if it has none, or several
 */
export async function headVersion(folder: string, prefix = ''): Promise<string> {
  const { stdout } = await run('git', ['-C', folder, 'tag', '--points-at', 'HEAD']).catch(
    (error: unknown) => {
      const [line] = messageOf(error).split('\n').slice(-2)
      throw new OptionsError([
        `${folder} has no tag to take the version from (${line?.trim()}): write --version`,
      ])
    },
  )
  const tags = stdout.split('\n').filter((tag) => tag.startsWith(prefix))
  const versions = new Set(
    tags
      .map((tag) => normalizeVersion(tag.slice(prefix.length)))
      .filter((tag) => semver.valid(tag)),
  )
  const [version, ...others] = versions
  if (version !== undefined && others.length === 0) {
    await warnOfChanges(folder)
    return version
  }
  const shape = `${prefix}v1.2.0`
  throw new OptionsError([
    version === undefined
      ? `no tag of the checked out commit is a version such as ${shape}: check out such a tag, or write --version`
      : `the checked out commit has tags of several versions, ${[...versions].join(', ')}: write --version`,
  ])
}

/** Warns if the folder differs from the tag, because its files are published. */
async function warnOfChanges(folder: string): Promise<void> {
  const status = ['--no-optional-locks', '-C', folder, 'status', '--porcelain', '-z', '--', '.']
  // An answer that exceeds the buffer is cut, which does not matter.
  const { stdout } = await run('git', status).catch((error: { stdout?: string }) => error)
  const [first] = (stdout ?? '').split('\0')
  if (!first) return
  const text = `depot: ${folder} has changes that its tag lacks, such as ${first.slice(3)}: they are published, too\n`
  process.stderr.write(plainText(text))
}
