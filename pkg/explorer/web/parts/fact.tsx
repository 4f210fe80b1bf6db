/** A term and its value in a list of facts. */
export const Fact = (props: {
  readonly words: string
  readonly children: preact.ComponentChildren
}) => (
  <div>
    <dt>{props.words}</dt>
    <dd>{props.children}</dd>
  </div>
)

/** A fact that is written as code, if it is known. */
export const CodeFact = (props: {
  readonly words: string
  readonly code: string | undefined
  readonly none?: string
}) => (
  <Fact words={props.words}>
    {props.code === undefined ? (
      <span class="quiet">{props.none ?? 'none'}</span>
    ) : (
      <code>{props.code}</code>
    )}
  </Fact>
)
