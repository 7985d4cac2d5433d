// Which actors a server runs on which threads: its placement, without a scheduler where it is not to schedule.
import { NO_SCHEDULER } from '../../config/options/scheduler.ts';
import type { ServerOptions, UpOptions } from '../../config/options.ts';
import { OrchError } from '../../runtime/errors.ts';
import { type Plan, planWithout } from '../../runtime/placement/plan.ts';
import { planFor } from '../placement.ts';
import { requireListener } from './serving-tls.ts';

export interface ServerPlan {
  readonly plan: Plan;
  /** Pods that name it are scheduled here; blank where there is no scheduler. */
  readonly schedulerName: string;
}

/** Throws OrchError BadConfiguration for a placement that cannot work with the options. */
export function serverPlan(program: 'up' | 'apiserver', options: ServerOptions): ServerPlan {
  const schedulerName = schedulerNameOf(program, options);
  const placed = planFor(options.placement);
  // A placement that names the scheduler serves without one too.
  const plan = schedulerName === '' ? planWithout(placed, 'scheduler') : placed;
  requireListener(options, plan);
  requireAudit(options, plan);
  return { plan, schedulerName };
}

/** Who asks for a record must not go without for a line that nobody read. */
function requireAudit({ auditPolicyFile, placement }: ServerOptions, plan: Plan): void {
  if (auditPolicyFile === '' || plan.threads.some(({ actors }) => actors.some(({ actor }) => actor === 'audit')))
    return;
  throw new OrchError(
    'BadConfiguration',
    `--audit-policy-file asks for events, and no thread of --placement ${placement} hosts audit, which writes them`,
  );
}

/** Blank where this process schedules nothing: `apiserver`, and `up` when told so. */
function schedulerNameOf(program: 'up' | 'apiserver', options: ServerOptions): string {
  if (program === 'apiserver') return '';
  const { schedulerName } = options as UpOptions;
  return schedulerName === NO_SCHEDULER ? '' : schedulerName;
}
