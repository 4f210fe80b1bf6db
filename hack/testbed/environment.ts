/** The variables that every program needs: the path of programs, and Node's compile cache. */
export const bareEnvironment: Readonly<Record<string, string>> = {
  PATH: process.env['PATH'] ?? '',
  NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? '',
}
