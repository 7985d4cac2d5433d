// A process that sends the one job it is given back and ends, as a load generator does.
process.once('disconnect', () => process.exit(1));
process.once('message', (job) => process.send!(job, () => process.exit(0)));
