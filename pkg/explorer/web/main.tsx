/*
 * The page's script. What the server drew is painted before the app starts, because a browser paints nothing while a
 * script runs: on a slow machine that is most of what a reader waits for.
 */

async function startAfterFirstPaint(): Promise<void> {
  const isDrawn = document.querySelector('#app h1') !== null
  if (isDrawn && document.visibilityState === 'visible') await painted()
  await import('./start.tsx')
}

/** Where the browser holds frames back. */
const longestWaitMs = 2000

/**
 * Until the first name of the list is on the screen. A frame that is only on its way is not enough: names that the app
 * replaces before they are shown count as never painted.
 */
function painted(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, longestWaitMs)
    const name = document.querySelector('[elementtiming]')
    const isInView = (name?.getBoundingClientRect().top ?? Infinity) < innerHeight
    if (!isInView || !PerformanceObserver.supportedEntryTypes.includes('element')) {
      requestAnimationFrame(() => setTimeout(resolve))
      return
    }
    const observer = new PerformanceObserver(() => {
      observer.disconnect()
      resolve()
    })
    observer.observe({ type: 'element', buffered: true })
  })
}

// Not awaited: the app imports from this file's chunk, and would wait for it in turn.
void startAfterFirstPaint()
