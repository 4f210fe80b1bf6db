/** True if tricks are off in this process: answers must be the same. Parts ask when they are created. */
export const isPlain = (): boolean => process.env['DEPOT_PLAIN'] === '1'
