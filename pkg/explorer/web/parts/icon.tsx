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
