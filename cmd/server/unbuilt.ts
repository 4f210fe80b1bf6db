import { authModeOf, type ServerOptions } from '../../pkg/options/options.ts'

/** What these options ask for that this release does not do yet; it refuses to start rather than do something else. */
export function unbuilt(options: ServerOptions): string[] {
  const problems: string[] = []
  const mode = authModeOf(options)
  if (mode !== 'anonymous') {
    problems.push(
      `authentication mode ${mode} is not built yet: this release has --anonymous-auth alone`,
    )
  }
  return problems
}
