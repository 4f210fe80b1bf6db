interface Props {
  /** The page without filters. */
  readonly clearHref: string
  readonly children?: preact.ComponentChildren
}

/** A list that is empty because of its filters. */
export const NoMatch = ({ clearHref, children }: Props) => (
  <div class="void">
    <h2 class="h3">Nothing matches these filters.</h2>
    {children}
    <a class="btn" href={clearHref}>
      Clear
    </a>
  </div>
)

/** The same in a section, where a button clears the filters. */
export const NoMatchHere = ({ onClear }: { readonly onClear: () => void }) => (
  <div class="void">
    <h3>Nothing matches these filters.</h3>
    <button type="button" class="btn" onClick={onClear}>
      Clear
    </button>
  </div>
)
