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
