import { Icon } from './icon.tsx'

interface Props {
  readonly href: string
  readonly children: preact.ComponentChildren
}

/** A link to another site. */
export const OutLink = ({ href, children }: Props) => (
  <a href={href} rel="noopener noreferrer">
    {children}
    <Icon name="out" />
  </a>
)
