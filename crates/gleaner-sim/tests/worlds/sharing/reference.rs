//! Processor sharing as one would explain it: every task has service left, and time takes some off every task.

struct Resident {
    task: usize,
    left: f64,
}

struct Machine {
    cores: f64,
    load: f64,
    residents: Vec<Resident>,
    busy: f64,
}

/// When the first task has nothing left, if nothing changes before, and what it gets of its core until then.
pub(crate) struct NextFinish {
    pub after_seconds: f64,
    pub share: f64,
}

pub(crate) struct Reference {
    machines: Vec<Machine>,
}

impl Machine {
    fn share(&self) -> f64 {
        (self.cores * (1.0 - self.load) / self.residents.len() as f64).min(1.0)
    }

    fn next_finish(&self) -> Option<NextFinish> {
        let least = self.residents.iter().map(|resident| resident.left).min_by(f64::total_cmp)?;
        let share = self.share();
        (share > 0.0).then(|| NextFinish { after_seconds: least.max(0.0) / share, share })
    }

    fn advance(&mut self, seconds: f64) {
        let share = self.share();
        if !self.residents.is_empty() && share > 0.0 {
            self.busy += seconds;
        }
        for resident in &mut self.residents {
            resident.left -= share * seconds;
        }
    }
}

impl Reference {
    pub(crate) fn new(cores: &[u32]) -> Self {
        let machine = |&cores| Machine { cores: f64::from(cores), load: 0.0, residents: vec![], busy: 0.0 };
        Self { machines: cores.iter().map(machine).collect() }
    }

    pub(crate) fn next_finish(&self) -> Option<NextFinish> {
        let finishes = self.machines.iter().filter_map(Machine::next_finish);
        finishes.min_by(|one, other| one.after_seconds.total_cmp(&other.after_seconds))
    }

    /// Whether less than a nanosecond is left of some task: whether it ends now is for rounding to say.
    pub(crate) fn is_about_to_finish(&self) -> bool {
        self.machines.iter().flat_map(|machine| &machine.residents).any(|resident| resident.left <= 1e-9)
    }

    pub(crate) fn advance(&mut self, seconds: f64) {
        for machine in &mut self.machines {
            machine.advance(seconds);
        }
    }

    pub(crate) fn set_load(&mut self, machine: usize, load: f64) {
        self.machines[machine].load = load;
    }

    pub(crate) fn put_on(&mut self, machine: usize, task: usize, left: f64) {
        self.machines[machine].residents.push(Resident { task, left });
    }

    /// Returns the service left, less than none if the task should have been gone.
    pub(crate) fn take_off(&mut self, task: usize) -> f64 {
        let of_task = |resident: &Resident| resident.task == task;
        let machine = self.machines.iter_mut().find(|machine| machine.residents.iter().any(of_task));
        let residents = &mut machine.expect("the task is on a machine").residents;
        let place = residents.iter().position(of_task).expect("the task is here");
        residents.swap_remove(place).left
    }

    pub(crate) fn busy(&self, machine: usize) -> f64 {
        self.machines[machine].busy
    }
}
