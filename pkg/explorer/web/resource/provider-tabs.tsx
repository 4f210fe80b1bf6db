import { number } from '../parts/format.ts'
import { docsHref, type PageAddress, resourceHref } from '../url/pages.ts'

interface Props {
  readonly address: PageAddress
  /** The version of the URL; empty for the latest. */
  readonly version: string
  readonly current: 'overview' | 'docs'
  /** Number of pages of the documentation; undefined while it is unknown. */
  readonly pages?: number | undefined
}

/** Links to the two pages of a provider: itself, and its documentation. */
export const ProviderTabs = ({ address, version, current, pages }: Props) => (
  <nav class="tabs links" aria-label="Of this version">
    <ul>
      <li>
        <a
          href={resourceHref(address, { version })}
          aria-current={current === 'overview' ? 'page' : undefined}
        >
          Overview
        </a>
      </li>
      <li>
        <a
          href={docsHref(address, { category: '', slug: '' }, { version })}
          aria-current={current === 'docs' ? 'page' : undefined}
        >
          Docs
          {pages !== undefined && <span class="quiet num">{number(pages)}</span>}
        </a>
      </li>
    </ul>
  </nav>
)
