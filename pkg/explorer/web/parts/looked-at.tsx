import { boot } from '../api/boot.ts'
import type { WhoAmI } from '../api/records.ts'
import { useQuery } from '../api/use-query.ts'
import { whoAmIUrl } from '../url/pages.ts'

/**
 * Says which fields a search without results looked at, and how to find the rest, which depends on who searches.
 *
 * @param access name of the page, or a link to it
 */
export function LookedAt({ access }: { readonly access: preact.ComponentChildren }) {
  const isOpen = useQuery<WhoAmI>(whoAmIUrl).data?.kind === 'anonymous'
  return (
    <>
      Depot looked at names, namespaces, systems, resource types, providers, inputs, outputs,
      submodules, descriptions and README headings of the latest versions
      {isOpen ? (
        '. This registry shows everything to everyone, so no permission is missing.'
      ) : (
        <>
          {' that you may see. '}
          {boot.oidc && !boot.signedIn
            ? 'Sign in to search in more, or open '
            : 'If it should be there, open '}
          {access}: it says how to ask for access.
        </>
      )}
    </>
  )
}
