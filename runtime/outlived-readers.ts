// What becomes of a program whose output nobody reads, or takes.

/**
 * Whoever reads the output may leave before its end (`orch up | head -1`); that ends nothing here. On a full disk a command has failed,
 * and a server goes on without the lines of its start.
 */
export function outliveReaders(): void {
  process.stderr.on('error', () => {});
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') return;
    process.stderr.write(`orch: the standard output cannot be written (${error.code})\n`);
    process.exitCode = 1;
  });
}
