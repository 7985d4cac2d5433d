// Whether Node's own listener can listen where others do, which depends on Node's version. Loads no listener.

const SINCE: readonly [major: number, minor: number] = [22, 12];

/** True where several threads or processes can listen on one port with the node listener (SO_REUSEPORT). */
export function sharesPorts(version: string = process.versions.node): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > SINCE[0] || (major === SINCE[0] && minor >= SINCE[1]);
}
