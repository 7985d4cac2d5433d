// The commands of the program as its usage text lists them. A command that is not built yet is not shown.

export interface Command {
  /** What follows the program's name, arguments in capitals. */
  readonly usage: string;
  readonly description: string;
  /** False: not built yet, so neither listed nor run. */
  readonly inForce: boolean;
}

export const COMMANDS: readonly Command[] = [
  { usage: 'up [OPTIONS]', description: 'Run the API server and the scheduler in one process.', inForce: true },
  { usage: 'apiserver [OPTIONS]', description: 'Run the API server.', inForce: true },
  { usage: 'scheduler [OPTIONS]', description: 'Run a scheduler against an API server.', inForce: true },
  {
    usage: 'schedule explain POD',
    description: 'Print what a scheduler says about a pod: its score on each node, or who refuses it.',
    inForce: true,
  },
  {
    usage: 'schedule simulate FILE',
    description: 'The same for a pod of a manifest that is not made.',
    inForce: true,
  },
  {
    usage: 'schedule replay FILE',
    description: 'Decide again what --scheduling-record has recorded, and say what differs.',
    inForce: true,
  },
  {
    usage: 'placement check FILE',
    description: 'Print which actors a placement puts on which threads.',
    inForce: true,
  },
  {
    usage: 'placement compare FILES',
    description: 'Run the same load under several placements and print a table.',
    inForce: true,
  },
  {
    usage: 'check-config [OPTIONS]',
    description: 'Look at the options and files of a server without starting it.',
    inForce: true,
  },
  {
    usage: 'options [--effects]',
    description: 'Print every option, feature gate and admission plugin, and what it does.',
    inForce: true,
  },
  { usage: 'top [--once]', description: 'Show what the threads and actors of a running server do.', inForce: true },
  {
    usage: 'bundle FILE',
    description: 'Save metrics, profiles and the end of the log of a running server, without secrets.',
    inForce: true,
  },
  { usage: 'bench LOAD [OPTIONS]', description: 'Measure a server: watches, reads, writes.', inForce: true },
  {
    usage: 'store check DIR',
    description: 'Verify a data folder, or the etcd of --store-servers, without changing it.',
    inForce: true,
  },
  {
    usage: 'store reencrypt DIR',
    description: 'Rewrite what --encryption-provider-config names, under its first keys; in etcd with --store-servers.',
    inForce: true,
  },
  {
    usage: 'store repair DIR',
    description: 'Repair a data folder, or what is in the etcd of --store-servers, saying what is lost.',
    inForce: true,
  },
  {
    usage: 'store snapshot FILE',
    description:
      'Save all objects of the server running on --data-dir DIR, or the whole etcd of --store-servers, into a file.',
    inForce: true,
  },
  {
    usage: 'store move DIR',
    description: 'Move a data folder into the etcd of --store-servers; with --to DIR, out of it into a new one.',
    inForce: true,
  },
  { usage: 'store restore FILE DIR', description: 'Make a new data folder of a snapshot.', inForce: true },
];
