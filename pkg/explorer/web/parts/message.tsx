import { Icon } from './icon.tsx'

interface VoidProps {
  readonly words: preact.ComponentChildren
  /** Whether it replaces a whole page, so that its heading has that level. */
  readonly isPage?: boolean
  readonly role?: 'alert'
  readonly children?: preact.ComponentChildren
}

/** Replaces missing content: says why it is missing, and what to do. */
export const Void = ({ words, isPage = false, role, children }: VoidProps) => (
  <div class="void" role={role}>
    {isPage ? <h2 class="h3">{words}</h2> : <h3>{words}</h3>}
    {children}
  </div>
)

interface NoteProps {
  readonly id?: string
  readonly tone?: string | undefined
  readonly icon: string
  readonly role?: 'alert' | 'status' | 'note'
  /** Buttons and links. */
  readonly end?: preact.ComponentChildren
  readonly children: preact.ComponentChildren
}

/** A remark on the content below it. */
export const Note = ({ id, tone = '', icon, role = 'status', end, children }: NoteProps) => (
  <div class={`note ${tone}`.trim()} id={id} role={role}>
    <Icon name={icon} />
    <p>{children}</p>
    {end !== undefined && <span class="end">{end}</span>}
  </div>
)

const words = 'Nothing matches these filters.'

interface Props {
  /** The page without filters. */
  readonly clearHref: string
  readonly children?: preact.ComponentChildren
}

/** A list that is empty because of its filters. */
export const NoMatch = ({ clearHref, children }: Props) => (
  <Void words={words} isPage>
    {children}
    <a class="btn" href={clearHref}>
      Clear
    </a>
  </Void>
)

/** Replaces an empty section, with a button that clears the filters. */
export const NoMatchHere = ({ onClear }: { readonly onClear: () => void }) => (
  <Void words={words}>
    <button type="button" class="btn" onClick={onClear}>
      Clear
    </button>
  </Void>
)
