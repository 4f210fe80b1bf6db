import type { ButtonHTMLAttributes } from 'preact'
import { Hidden, Icon } from './icon.tsx'

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
