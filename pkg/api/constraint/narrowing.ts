import semver from 'semver'
import { parseConstraints } from './parse.ts'

/**
 * Finds a version that one constraint allows and another refuses. What a constraint allows changes only at the versions that
 * it names and just after them, so these decide for all versions.
 *
 * @param from undefined allows every version
 * @returns undefined if everything that `from` allows is allowed by `to`
 * @throws ConstraintError
 */
export function excludedVersion(
  from: string | undefined,
  to: string | undefined,
): string | undefined {
  const [before, after] = [from, to].map((text) => parseConstraints(text ?? ''))
  const named = `${from ?? ''},${to ?? ''}`.matchAll(
    /(\d+)(?:\.(\d+))?(?:\.(\d+))?(?:-([0-9A-Za-z.-]+))?/g,
  )
  const candidates = [...named].flatMap(([, major = 0, minor = 0, patch = 0, prerelease]) => [
    ...neighbours(Number(major), Number(minor), Number(patch)),
    ...(prerelease === undefined ? [] : [`${major}.${minor}.${patch}-${prerelease}`]),
  ])
  return [...new Set(['0.0.0', ...candidates])].find((text) => {
    const version = semver.parse(text)
    // Some are too large for a version.
    if (version === null) return false
    return before?.allows(version) === true && after?.allows(version) === false
  })
}

/** A version, and the ends of the intervals that an operator can make of it. */
const neighbours = (major: number, minor: number, patch: number): string[] => [
  `${major}.${minor}.${patch}`,
  `${major}.${minor}.${patch + 1}`,
  `${major}.${minor + 1}.0`,
  `${major + 1}.0.0`,
  ...(patch > 0 ? [`${major}.${minor}.${patch - 1}`] : []),
  ...(patch === 0 && minor > 0 ? [`${major}.${minor - 1}.999999`] : []),
  ...(patch === 0 && minor === 0 && major > 0 ? [`${major - 1}.999999.0`] : []),
]
