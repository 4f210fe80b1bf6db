import type { ButtonHTMLAttributes } from 'preact'

/** An icon of icons.svg, which the page contains once. Use it with text, or with hidden text. */
export function Icon({ name, tone = '' }: { readonly name: string; readonly tone?: string }) {
  return (
    <svg class={`i ${tone}`.trim()} aria-hidden="true">
      <use href={`#i-${name}`} />
    </svg>
  )
}

export const kindIcon = (kind: string): string =>
  kind === 'provider' ? 'provider' : kind === 'depot' ? 'depot' : 'module'

/** Text for screen readers only. */
export const Hidden = ({ children }: { readonly children: preact.ComponentChildren }) => (
  <span class="vh">{children}</span>
)

interface Props extends Omit<ButtonHTMLAttributes, 'icon'> {
  readonly icon: string
  readonly words: string
  readonly look?: string
  readonly type?: 'button' | 'submit'
  readonly popovertarget?: string
}

/** A button that shows only an icon. Its words are a tooltip, and the name for screen readers. */
export const IconButton = ({ icon, words, look = '', type = 'button', ...rest }: Props) => (
  <button type={type} class={`btn ${look} icon`} title={words} {...rest}>
    <Icon name={icon} />
    <Hidden>{words}</Hidden>
  </button>
)
