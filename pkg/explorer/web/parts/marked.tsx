/** Marks the last place of the typed text, because the ends of names tell them apart. */
export function Marked({ words, typed }: { readonly words: string; readonly typed: string }) {
  const at = typed === '' ? -1 : words.toLowerCase().lastIndexOf(typed.toLowerCase())
  if (at < 0) return <>{words}</>
  const end = at + typed.length
  return (
    <>
      {words.slice(0, at)}
      <mark>{words.slice(at, end)}</mark>
      {words.slice(end)}
    </>
  )
}
