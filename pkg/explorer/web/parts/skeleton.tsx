/** A placeholder for words that are still loading. */
export const Bone = ({
  width,
  tall = false,
}: {
  readonly width: string
  readonly tall?: boolean
}) => <span class={`sk ${width}${tall ? ' tall' : ''}`} />

/** Placeholders for the lines of a text. */
export const Lines = ({ count }: { readonly count: number }) => (
  <>
    {Array.from({ length: count }, (_, at) => (
      <span key={at} class={`sk line ${['w9', 'w9', 'w8', 'w6'][at % 4]}`} />
    ))}
  </>
)
