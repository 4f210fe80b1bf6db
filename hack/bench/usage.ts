import { readFileSync, writeFileSync } from 'node:fs'

/* Loaded with --import: writes what a process used into the file that DEPOT_USAGE names, when it ends. */
const file = process.env['DEPOT_USAGE']
process.on('exit', () => {
  if (file === undefined) return
  const { userCPUTime, systemCPUTime } = process.resourceUsage()
  // That of resourceUsage is the peak of the process that started this one, where it was higher.
  const [, peakKib] = /VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
  writeFileSync(
    file,
    JSON.stringify({
      cpuSeconds: (userCPUTime + systemCPUTime) / 1e6,
      maxRssMib: Number(peakKib) / 1024,
    }),
  )
})
