/** A tone in the place of words that are not there yet. */
export const Bone = ({
  width,
  tall = false,
}: {
  readonly width: string
  readonly tall?: boolean
}) => <span class={`sk ${width}${tall ? ' tall' : ''}`} />

/** Lines of a text that is not there yet. */
export const Lines = ({ count }: { readonly count: number }) => (
  <>
    {Array.from({ length: count }, (_, at) => (
      <span key={at} class={`sk line ${['w9', 'w9', 'w8', 'w6'][at % 4]}`} />
    ))}
  </>
)
