//! When requests are due.

use crate::job::{Arrivals, Job, Load};

/// Nanoseconds since the start of the job.
pub type Nanos = u64;

/// The arrivals of an open loop. They depend only on the seed, not on the server.
pub struct Pacer {
    arrivals: Arrivals,
    mean: f64,
    /// A float, so that a rate that does not divide a second does not drift.
    next: f64,
    end: Nanos,
    random: fastrand::Rng,
}

impl Pacer {
    /// None for a closed loop.
    pub fn new(job: &Job) -> Option<Pacer> {
        let Load::Open { duration_ms, rate, arrivals } = job.load else { return None };
        let mean = 1e9 / rate;
        let mut pacer = Pacer {
            arrivals,
            mean,
            next: 0.0,
            end: duration_ms * 1_000_000,
            random: fastrand::Rng::with_seed(job.seed),
        };
        if arrivals == Arrivals::Poisson {
            pacer.next = pacer.gap();
        }
        Some(pacer)
    }

    /// When the next request is due. None after the end of the job.
    pub fn due(&self) -> Option<Nanos> {
        let due = self.next as Nanos;
        (due < self.end).then_some(due)
    }

    pub fn advance(&mut self) {
        self.next += self.gap();
    }

    /// Exponential by inversion. `1 - f64()` is never 0, so the logarithm is finite.
    fn gap(&mut self) -> f64 {
        match self.arrivals {
            Arrivals::Constant => self.mean,
            Arrivals::Poisson => -(1.0 - self.random.f64()).ln() * self.mean,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(arrivals: &str, seed: u64) -> Vec<Nanos> {
        let job = format!(
            r#"{{"target":{{"unix":"x"}},"requests":[{{"path":"/"}}],"connections":1,"seed":{seed},
                "load":{{"loop":"open","durationMs":10000,"rate":1000,"arrivals":"{arrivals}"}}}}"#
        );
        let mut pacer = Pacer::new(&Job::parse(&job).unwrap()).unwrap();
        let mut times = Vec::new();
        while let Some(due) = pacer.due() {
            times.push(due);
            pacer.advance();
        }
        times
    }

    #[test]
    fn constant_arrivals_are_evenly_spaced() {
        let times = times("constant", 1);
        assert_eq!(times.len(), 10_000);
        assert!(times.windows(2).all(|pair| pair[1] - pair[0] == 1_000_000));
    }

    #[test]
    fn poisson_arrivals_have_the_mean_and_spread_of_their_kind_and_repeat_by_seed() {
        let first = times("poisson", 7);
        assert_eq!(first, times("poisson", 7));
        assert_ne!(first, times("poisson", 8));
        let gaps: Vec<f64> = first.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let deviation = (gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64).sqrt();
        // The deviation of exponential gaps equals their mean. That of 10,000 is within 5 %.
        assert!((mean / 1e6 - 1.0).abs() < 0.05, "{mean}");
        assert!((deviation / mean - 1.0).abs() < 0.05, "{deviation}");
    }
}
