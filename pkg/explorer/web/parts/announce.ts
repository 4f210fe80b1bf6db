/** Says something to screen readers, in the page's one live region for short messages. */
export function announce(words: string): void {
  const region = document.getElementById('announcements')
  if (region === null) return
  region.textContent = ''
  requestAnimationFrame(() => {
    region.textContent = words
  })
}
