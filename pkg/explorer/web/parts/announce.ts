/** Announces a short message to screen readers in the live region of the page. */
export function announce(words: string): void {
  const region = document.getElementById('announcements')
  if (region === null) return
  region.textContent = ''
  requestAnimationFrame(() => {
    region.textContent = words
  })
}
