// Which labels a node agent may give its own node: any that are not the system's, and of the system's those that say what the
// machine is.
import type { Dialect } from '../../../../config/dialect.ts';

type Labels = Readonly<Record<string, string>>;

const OWN_LABELS = [
  '@label/hostname',
  '@label/os',
  '@label/arch',
  'beta.@label/os',
  'beta.@label/arch',
  'beta.@label/instance-type',
  'node.@label/instance-type',
  'topology.@label/zone',
  'topology.@label/region',
  'failure-domain.beta.@label/zone',
  'failure-domain.beta.@label/region',
];

/** Answers those of the labels that differ and that an agent may not set, sorted. */
export function nodeLabelGuard(dialect: Dialect): (labels: Labels, before: Labels) => readonly string[] {
  const own = new Set(OWN_LABELS.map(dialect.spell));
  const ownPrefixes = [dialect.spell('@agent.@label'), dialect.spell('node.@label')];
  const restricted = dialect.spell('node-restriction.@label');
  const system = [dialect.labelDomain, dialect.groupDomain];
  const isForbidden = (label: string): boolean => {
    const slash = label.indexOf('/');
    const prefix = slash < 0 ? '' : label.slice(0, slash);
    if (isWithin(prefix, restricted)) return true;
    if (!system.some((domain) => isWithin(prefix, domain))) return false;
    return !(own.has(label) || ownPrefixes.some((domain) => isWithin(prefix, domain)));
  };
  return (labels, before) =>
    [...new Set([...Object.keys(labels), ...Object.keys(before)])]
      .filter((label) => labels[label] !== before[label] && isForbidden(label))
      .sort();
}

function isWithin(name: string, domain: string): boolean {
  return name === domain || name.endsWith(`.${domain}`);
}
