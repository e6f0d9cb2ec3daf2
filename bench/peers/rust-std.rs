// std::process; several at once have a thread each. Built by `rustc -O rust-std.rs`.
use std::error::Error;
use std::io::{BufRead, Read, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

type Outcome = Result<Duration, Box<dyn Error + Send + Sync>>;

const READ_SIZE: usize = 256 << 10;

fn command(argv: &[&str]) -> Command {
    let mut command = Command::new(argv[0]);
    command.args(&argv[1..]).stdin(Stdio::null());
    command
}

fn captured(argv: &[&str]) -> Outcome {
    let begin = Instant::now();
    let output = command(argv).output()?;
    if !output.status.success() { return Err(output.status.to_string().into()); }
    Ok(begin.elapsed())
}

fn exec(count: usize, argv: &[&str]) -> Outcome {
    if count == 1 { return captured(argv); }
    let begin = Instant::now();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..count).map(|_| scope.spawn(|| captured(argv))).collect();
        threads.into_iter().try_for_each(|each| each.join().unwrap().map(drop))
    })?;
    Ok(begin.elapsed())
}

fn ended(mut child: Child, all_came: bool) -> Result<(), Box<dyn Error + Send + Sync>> {
    let status = child.wait()?;
    if status.success() && all_came { Ok(()) } else { Err(format!("too little came; {status}").into()) }
}

fn stream(bytes: usize, argv: &[&str], buffer: &mut [u8]) -> Outcome {
    let begin = Instant::now();
    let mut child = command(argv).stdout(Stdio::piped()).spawn()?;
    let mut pipe = child.stdout.take().unwrap();
    let mut seen = 0;
    loop {
        let size = pipe.read(buffer)?;
        if size == 0 { break; }
        seen += size;
    }
    ended(child, seen == bytes)?;
    Ok(begin.elapsed())
}

fn first_byte(argv: &[&str], buffer: &mut [u8]) -> Outcome {
    let begin = Instant::now();
    let mut child = command(argv).stdout(Stdio::piped()).spawn()?;
    let size = child.stdout.as_mut().unwrap().read(buffer)?;
    let took = begin.elapsed();
    ended(child, size > 0)?;
    Ok(took)
}

fn perform(line: &str, buffer: &mut [u8]) -> Outcome {
    let words: Vec<&str> = line.split('\t').collect();
    let count = words[1].parse()?;
    match words[0] {
        "exec" | "exec64" => exec(count, &words[2..]),
        "stream" => stream(count, &words[2..], buffer),
        "first-byte" => first_byte(&words[2..], buffer),
        other => Err(format!("cannot {other}").into()),
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut buffer = vec![0; READ_SIZE];
    println!("peer {}", option_env!("RUSTC_VERSION").unwrap_or("rustc of unknown version"));
    for line in std::io::stdin().lock().lines() {
        match perform(&line?, &mut buffer) {
            Ok(took) => println!("ok {}", took.as_nanos()),
            Err(failure) => println!("error {}", failure.to_string().replace('\n', " ")),
        }
        std::io::stdout().flush()?;
    }
    Ok(())
}
