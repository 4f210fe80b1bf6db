import type { Platform, UpstreamProviderVersion } from '../../sources/sources.ts'
import type { Desired, Skipped } from '../parent/desired.ts'

interface Wanted {
  readonly operatingSystems?: readonly string[] | undefined
  readonly architectures?: readonly string[] | undefined
}

/** The platforms of one version that upstream has and the config wants; what it wants and upstream lacks is skipped. */
export function platformsOf(
  listed: { readonly spelled: string; readonly version: string },
  upstream: UpstreamProviderVersion | undefined,
  { operatingSystems = [], architectures = [] }: Wanted,
): { readonly desired: readonly Desired[]; readonly skipped: readonly Skipped[] } {
  const { version, spelled } = listed
  if (upstream === undefined) {
    return { desired: [], skipped: [{ version, message: 'upstream does not have this version' }] }
  }
  const fits = (names: readonly string[], name: string) =>
    names.length === 0 || names.includes(name)
  const platforms = upstream.platforms.filter(
    ({ os, arch }) => fits(operatingSystems, os) && fits(architectures, arch),
  )
  const missing = wantedPlatforms(operatingSystems, architectures).filter(
    (wanted) => !platforms.some((has) => matches(wanted, has)),
  )
  const { protocols } = upstream
  return {
    desired: platforms.map(({ os, arch }) => ({ spelled, version, os, arch, protocols })),
    skipped: missing.map(({ os = '*', arch = '*' }) => ({
      version,
      platform: `${os}/${arch}`,
      message: 'upstream does not have this platform',
    })),
  }
}

/** What is asked for by name; an empty list asks for nothing by name. */
function wantedPlatforms(
  systems: readonly string[],
  architectures: readonly string[],
): Partial<Platform>[] {
  if (systems.length === 0) return architectures.map((arch) => ({ arch }))
  if (architectures.length === 0) return systems.map((os) => ({ os }))
  return systems.flatMap((os) => architectures.map((arch) => ({ os, arch })))
}

function matches({ os, arch }: Partial<Platform>, has: Platform): boolean {
  return (os === undefined || os === has.os) && (arch === undefined || arch === has.arch)
}
