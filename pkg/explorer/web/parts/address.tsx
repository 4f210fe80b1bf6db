import { type PageAddress as Path, resourceHref } from '../url/pages.ts'
import { Hidden, Icon, kindIcon } from './icon.tsx'
import { MarkedWords, Matched, type SearchMatch } from './marked.tsx'

interface Props {
  readonly of: Path & { readonly matched?: readonly SearchMatch[] | undefined }
  readonly version?: string
  /** Words of a search to mark. */
  readonly typed?: string
}

/** Kind, namespace and name, which is the link. A search result also says what matched. */
export function AddressLink({ of, version, typed = '' }: Props) {
  return (
    <span class="addr">
      <Icon name={kindIcon(of.kind)} />
      <span>
        <Hidden>{of.kind === 'provider' ? 'Provider' : 'Module'} </Hidden>
        <span class="ns">
          <MarkedWords text={of.namespace} typed={typed} />/<wbr />
        </span>
        <a
          href={resourceHref(of, version === undefined ? {} : { version })}
          // Makes the browser report when the name is painted, which main.tsx waits for.
          elementtiming="name"
        >
          <b>
            <MarkedWords text={of.name} typed={typed} />
          </b>
        </a>
        {of.matched !== undefined && (
          <Matched matched={of.matched} address={`${of.namespace}/${of.name}`} typed={typed} />
        )}
      </span>
    </span>
  )
}
