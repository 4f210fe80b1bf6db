/*
 * The page's script. What the server drew is painted before the app starts, because a browser paints nothing while a
 * script runs: on a slow machine that is most of what a reader waits for.
 */

async function startAfterFirstPaint(): Promise<void> {
  const isDrawn = document.querySelector('#app h1') !== null
  if (isDrawn && document.visibilityState === 'visible') await painted()
  await import('./start.tsx')
}

/** After the next frame, or two seconds later where the browser holds frames back. */
function painted(): Promise<void> {
  return new Promise((resolve) => {
    requestAnimationFrame(() => setTimeout(resolve))
    setTimeout(resolve, 2000)
  })
}

// Not awaited: the app imports from this file's chunk, and would wait for it in turn.
void startAfterFirstPaint()
