import { type PageAddress as Path, resourceHref } from '../url/pages.ts'
import { Hidden, Icon, kindIcon } from './icon.tsx'

/** Kind, namespace and name; the name is the link. */
export function AddressLink({ of, version }: { readonly of: Path; readonly version?: string }) {
  return (
    <span class="addr">
      <Icon name={kindIcon(of.kind)} />
      <span>
        <Hidden>{of.kind === 'provider' ? 'Provider' : 'Module'} </Hidden>
        <span class="ns">
          {of.namespace}/<wbr />
        </span>
        <a
          href={resourceHref(of, version === undefined ? {} : { version })}
          // Makes the browser report when the name is painted: main.tsx waits for it.
          elementtiming="name"
        >
          <b>{of.name}</b>
        </a>
      </span>
    </span>
  )
}
