import type { ComponentChildren } from 'preact'
import { resourcesHref } from '../url/pages.ts'

interface Props {
  readonly namespace: string
  /** A link to the resource, on pages below its own. */
  readonly children?: ComponentChildren
}

/** The path from the list to a page of a resource. */
export const Crumb = ({ namespace, children }: Props) => (
  <nav class="crumb" aria-label="Breadcrumb">
    <a href="/">Registry</a>
    <span aria-hidden="true">/</span>
    <a href={resourcesHref({ namespace: [namespace] })}>{namespace}</a>
    {children !== undefined && <span aria-hidden="true">/</span>}
    {children}
  </nav>
)
