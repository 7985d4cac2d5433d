// The commands of the program, in the order in which its usage text lists them.

export interface Command {
  /** What follows the program's name, arguments in capitals. */
  readonly usage: string;
  readonly description: string;
}

/** A word of a command itself, and not of what it takes. */
export const COMMAND_WORD = /^[a-z-]+$/;

export const COMMANDS: readonly Command[] = [
  { usage: 'up [OPTIONS]', description: 'Run the API server and the scheduler in one process.' },
  { usage: 'apiserver [OPTIONS]', description: 'Run the API server.' },
  { usage: 'scheduler [OPTIONS]', description: 'Run a scheduler against an API server.' },
  {
    usage: 'schedule explain POD',
    description: 'Print what a scheduler says about a pod: its score on each node, or who refuses it.',
  },
  {
    usage: 'schedule simulate FILE',
    description: 'The same for a pod of a manifest that is not made.',
  },
  {
    usage: 'schedule replay FILE',
    description: 'Decide again what --scheduling-record has recorded, and say what differs.',
  },
  {
    usage: 'placement check FILE',
    description: 'Print which actors a placement puts on which threads.',
  },
  {
    usage: 'placement compare FILES',
    description: 'Run the same load under several placements and print a table.',
  },
  {
    usage: 'check-config [OPTIONS]',
    description: 'Look at the options and files of a server without starting it.',
  },
  {
    usage: 'options [--effects]',
    description: 'Print every option, feature gate and admission plugin, and what it does.',
  },
  { usage: 'top [--once]', description: 'Show what the threads and actors of a running server do.' },
  {
    usage: 'bundle FILE',
    description: 'Save metrics, profiles and the end of the log of a running server, without secrets.',
  },
  { usage: 'bench WORKLOAD', description: 'Measure a server: watches, reads, writes.' },
  {
    usage: 'store check DIR',
    description: 'Verify a data folder, or the etcd of --store-servers, without changing it.',
  },
  {
    usage: 'store reencrypt DIR',
    description: 'Rewrite what --encryption-provider-config names, under its first keys; in etcd with --store-servers.',
  },
  {
    usage: 'store repair DIR',
    description: 'Repair a data folder, or what is in the etcd of --store-servers, saying what is lost.',
  },
  {
    usage: 'store snapshot FILE',
    description:
      'Save all objects of the server running on --data-dir DIR, or the whole etcd of --store-servers, into a file.',
  },
  {
    usage: 'store move DIR',
    description: 'Move a data folder into the etcd of --store-servers; with --to DIR, out of it into a new one.',
  },
  { usage: 'store restore FILE DIR', description: 'Make a new data folder of a snapshot.' },
  { usage: 'completion SHELL', description: 'Print what teaches bash, zsh or fish to complete commands and options.' },
  { usage: 'version', description: 'Print the versions of orch and of the Node that runs it.' },
  { usage: 'help [COMMAND]', description: 'Print this list, or what a command does and takes.' },
];
