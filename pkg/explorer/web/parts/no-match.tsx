import { Void } from './message.tsx'

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
