/*
 * The page's script. It lets the browser paint the server's HTML before the app starts. A browser paints nothing while a
 * script runs, and on a slow machine that is most of the waiting time.
 */

async function startAfterFirstPaint(): Promise<void> {
  const isDrawn = document.querySelector('#app h1') !== null
  if (isDrawn && document.visibilityState === 'visible') await painted()
  await import('./start.tsx')
}

/** For browsers that delay frames. */
const longestWaitMs = 2000

/**
 * Resolves when the first name of the list is on the screen. A requested frame is not enough, because names that the app
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

// Not awaited: the app imports from this file's chunk, so each would wait for the other.
void startAfterFirstPaint()
